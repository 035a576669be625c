const c = new Deno.Command("id"); // FIND: javascript.process
const text = await Deno.readTextFile("/etc/passwd"); // FIND: javascript.outside-file
const lib = Deno.dlopen("./x.so", {}); // FIND: javascript.native-extension
console.log(c, text, lib);
