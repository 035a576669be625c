const text = '{"a": [1, 2, 3]}';
const o = JSON.parse(text);
console.log(JSON.stringify(o), structuredClone(o));
