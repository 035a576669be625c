export function calculate(text: string): number {
  return eval(text) as number; // FIND: javascript.dynamic-code
}
