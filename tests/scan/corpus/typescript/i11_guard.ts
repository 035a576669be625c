export function isText(x: unknown): x is string {
  return typeof x === "string";
}
export const size = (x: unknown) => (isText(x) ? x.length : 0);
