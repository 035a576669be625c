export interface Process { spawn(): void; exec: (x: string) => number }
export const eval2 = <T>(x: T) => x;
export class Child implements Process { spawn() {} exec = (x: string) => x.length; }
new Child().exec('child_process'); new Child().spawn(); eval2('eval(1)');
type X = typeof import('child_process');
