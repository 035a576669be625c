export function open(path: string): string;
export function open(path: string, mode: number): string;
export function open(path: string, mode = 0): string { return path + mode; }
open("/etc/passwd");
