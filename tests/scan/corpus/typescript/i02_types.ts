type exec = (words: string) => number;
interface Runner { exec: exec; eval(x: number): number; fetch(key: string): string }
export type { exec, Runner };
