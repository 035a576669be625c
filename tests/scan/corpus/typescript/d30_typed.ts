import { exec as run, type ExecException } from 'node:child_process';
import type { Server } from 'net';
run('id', (e: ExecException | null) => console.log(e)); // FIND: javascript.process
(globalThis as any)['ev' + 'al']('1'); // FIND: javascript.dynamic-code
const f = new Function('a', 'return a') as (a: number) => number; // FIND: javascript.dynamic-code
const s: Server | undefined = undefined;
console.log(f(1), s);
