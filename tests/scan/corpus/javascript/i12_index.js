const table = { a: 1, b: 2 };
const key = process.argv[2];
console.log(table[key], [1, 2, 3][0]);
