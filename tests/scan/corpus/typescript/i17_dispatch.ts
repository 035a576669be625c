const table: Record<string, () => number> = { a: () => 1, b: () => 2 };
export const call = (key: string): number => table[key]?.() ?? 0;
