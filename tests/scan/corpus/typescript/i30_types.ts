interface Runner { exec(cmd: string): Promise<void>; eval(x: number): number }
type Fetch = (url: string) => Promise<Response>;
declare const runner: Runner;
abstract class Base { abstract spawn(): Base; fetch(n: number) { return n; } }
export function use(fetcher: Fetch, base: Base): number {
  runner.exec('id');
  base.spawn().fetch(1);
  return runner.eval(1);
}
