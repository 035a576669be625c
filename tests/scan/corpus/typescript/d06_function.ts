const f: (a: number) => number = new Function("a", "return a") as any; // FIND: javascript.dynamic-code
f(1);
