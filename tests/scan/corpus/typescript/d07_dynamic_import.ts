export async function plugin(name: string) {
  const m = await import(name); // FIND: javascript.reflection
  return require(name + "/x")(m); // FIND: javascript.reflection
}
