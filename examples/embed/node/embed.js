#!/usr/bin/env node
// Run `pinfold run` from Node.js: stream its output and its events, read its result, cancel it. It never rejects.
//
//   const outcome = await run(["--wall", "60s", "@host", "echo", "hello"], { onStdout: (chunk) => …, signal });
//   outcome.ok, outcome.status, outcome.failure, outcome.result
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const RESULT_MAX = 16 << 20; // bytes of a result document
const LINE_MAX = 4 << 20; // bytes of one event
const DRAIN_MS = 5000; // what pipes may take when pinfold has ended
const CANCEL_MS = 30000; // what pinfold may take to end a run, its --grace among it

// failure is null where there is a result; then status, ok and all else is the result's.
//   not-found, not-executable, not-started: pinfold did not run. killed: it was, and left no result.
//   no-result, bad-result: it ended without one that can be read. callback: one of the caller's threw, and the run was cancelled.
function newOutcome() {
  return {
    failure: null, message: null, result: null, status: "no-result", ok: false,
    code: null, signal: null, // of pinfold itself
    events: 0, bad_events: 0, stdout_bytes: 0, stderr_bytes: 0,
  };
}

function fail(outcome, failure, message) {
  if (!outcome.failure) Object.assign(outcome, { failure, message: String(message) });
}

function isDeep(value, most) {
  return value !== null && typeof value === "object" && (most === 0 || Object.values(value).some((inner) => isDeep(inner, most - 1)));
}

// A document, or a sentence on what is wrong.
function readResult(text) {
  let document;
  try {
    document = JSON.parse(text);
  } catch (error) {
    return `the result is no JSON: ${error.message}`;
  }
  if (isDeep(document, 32)) return "the result is nested too deep";
  if (document === null || typeof document !== "object" || document.schema !== "pinfold.result/1") return "the result is no pinfold.result/1";
  if (typeof document.status !== "string" || typeof document.ok !== "boolean") return "the result has no status";
  return document;
}

// A file without a name, that nobody has to read meanwhile: a callback that takes its time is not in the way of the result.
function openResult() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "embed-"));
  try {
    return fs.openSync(path.join(folder, "result"), "wx+", 0o600);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

// spawn() throws for some reasons and tells others by an event.
function start(program, args, result) {
  // Descriptors 3 and 4 of pinfold are a pipe and a file of ours. No shell sees the arguments.
  return spawn(program, ["run", "--events=fd:3", "--result=fd:4", ...args], { stdio: ["ignore", "pipe", "pipe", "pipe", result] });
}

function failureOf(error) {
  return error.code === "ENOENT" ? "not-found" : error.code === "EACCES" ? "not-executable" : "not-started";
}

class Session {
  constructor(child, result, options, outcome) {
    Object.assign(this, { child, result, options, outcome, error: Buffer.alloc(0), timers: [], busy: 0, taken: 0 });
  }

  // TERM to pinfold, which ends the whole sandbox and still writes its result.
  cancel() {
    if (this.cancelled || this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.cancelled = true;
    this.child.kill("SIGTERM");
    this.timers.push(setTimeout(() => this.child.kill("SIGKILL"), CANCEL_MS));
  }

  async call(callback, argument) {
    if (!callback || this.outcome.failure) return;
    try {
      await callback(argument);
    } catch (error) {
      fail(this.outcome, "callback", error);
      this.cancel();
    }
  }

  // Each stream has a reader of its own, so that no full pipe holds up another; a callback that returns a promise holds up its own.
  async pump(stream, take) {
    try {
      for await (const chunk of stream) {
        this.busy++;
        await take(chunk);
        this.busy--;
        this.taken++;
      }
    } catch {
      // It was destroyed, or broke: what came is what there is.
    }
  }

  async takeStdout(chunk) {
    this.outcome.stdout_bytes += chunk.length;
    await this.call(this.options.onStdout, chunk);
  }

  async takeStderr(chunk) {
    this.outcome.stderr_bytes += chunk.length;
    this.error = Buffer.concat([this.error, chunk]).subarray(-2000);
    await this.call(this.options.onStderr, chunk);
  }

  async takeEvents(chunk) {
    this.line = this.line ? Buffer.concat([this.line, chunk]) : chunk;
    for (let end; (end = this.line.indexOf(10)) >= 0; this.line = this.line.subarray(end + 1)) await this.takeEvent(this.line.toString("utf8", 0, end));
    if (this.line.length > LINE_MAX) {
      this.outcome.bad_events++;
      this.line = null;
    }
  }

  async takeEvent(line) {
    let event = null;
    try {
      event = JSON.parse(line);
    } catch {
      // counted below
    }
    if (event === null || event.schema !== "pinfold.event/1") {
      this.outcome.bad_events++;
      return;
    }
    this.outcome.events++;
    await this.call(this.options.onEvent, event);
  }

  // Nothing came, and nobody is at work on what came: something else holds our pipes open.
  async idle() {
    for (let before = -1; this.busy > 0 || this.taken !== before;) {
      before = this.taken;
      await new Promise((resolve) => this.timers.push(setTimeout(resolve, DRAIN_MS)));
    }
  }

  conclude() {
    const { outcome } = this;
    const { size } = fs.fstatSync(this.result);
    if (size === 0) {
      const said = this.error.toString().trim();
      fail(outcome, outcome.signal ? "killed" : "no-result", said || `pinfold ended with ${outcome.signal || outcome.code} and wrote no result`);
      return;
    }
    const text = Buffer.alloc(Math.min(size, RESULT_MAX));
    fs.readSync(this.result, text, 0, text.length, 0);
    const document = size > RESULT_MAX ? "the result is too large" : readResult(text.toString());
    if (typeof document === "string") fail(outcome, "bad-result", document);
    else Object.assign(outcome, { result: document, status: document.status, ok: document.ok && !outcome.failure });
  }

  async finish() {
    const [, out, err, events] = this.child.stdio;
    const pumps = Promise.all([this.pump(out, (c) => this.takeStdout(c)), this.pump(err, (c) => this.takeStderr(c)),
      this.pump(events, (c) => this.takeEvents(c))]);
    const ended = new Promise((resolve) => {
      this.child.once("error", (error) => {
        if (this.child.pid === undefined) fail(this.outcome, failureOf(error), error.message);
        resolve();
      });
      this.child.once("exit", (code, signal) => {
        Object.assign(this.outcome, { code, signal: signal && os.constants.signals[signal] });
        resolve();
      });
    });
    await ended;
    await Promise.race([pumps, this.idle()]);
    for (const timer of this.timers) clearTimeout(timer);
    for (const stream of [out, err, events]) stream?.destroy();
    this.conclude();
  }
}

// args are those behind `pinfold run`. options: program, onStdout, onStderr, onEvent, signal (an AbortSignal).
async function run(args, options = {}) {
  const outcome = newOutcome();
  let session, result;
  const cancel = () => session.cancel();
  try {
    result = openResult();
    session = new Session(start(options.program || "pinfold", args, result), result, options, outcome);
    options.signal?.addEventListener("abort", cancel);
    if (options.signal?.aborted) cancel();
    await session.finish();
  } catch (error) {
    fail(outcome, session ? "not-started" : failureOf(error), error.message);
  } finally {
    options.signal?.removeEventListener("abort", cancel);
    if (result !== undefined) fs.closeSync(result);
  }
  return outcome;
}

module.exports = { run };

// embed.js OUTCOME PINFOLD ARG...: runs it, passes its output on, cancels it at "cancel" on stdin, writes the outcome.
async function main([file, program, ...args]) {
  const stop = new AbortController();
  process.stdin.on("data", (data) => data.includes("cancel") && stop.abort());
  const passOn = (stream) => (chunk) => new Promise((resolve, reject) => stream.write(chunk, (error) => (error ? reject(error) : resolve())));
  process.stdout.on("error", () => {}); // the callback above hears of it
  const outcome = await run(args, {
    program, signal: stop.signal, onStdout: passOn(process.stdout), onStderr: passOn(process.stderr),
    onEvent: (event) => passOn(process.stderr)(`event ${event.event}\n`),
  });
  fs.writeFileSync(file, JSON.stringify(outcome));
  process.stdin.destroy();
}

if (require.main === module) {
  if (process.argv.length < 4) {
    console.error("usage: embed.js OUTCOME PINFOLD ARG...");
    process.exit(1);
  }
  main(process.argv.slice(2));
}
