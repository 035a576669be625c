enum Kind { Eval = 'eval', Exec = 'exec' }
const table: Record<Kind, (x: string) => string> = { [Kind.Eval]: x => x, [Kind.Exec]: x => x };
export const go = (k: Kind) => table[k]('child_process');
const note = 'require("child_process").exec("id")' as const;
console.log(note satisfies string, go(Kind.Eval));
