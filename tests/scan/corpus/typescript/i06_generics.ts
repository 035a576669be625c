export function first<T extends { id: number }>(list: readonly T[]): T | undefined {
  return list.find((x) => x.id > 0);
}
