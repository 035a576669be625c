const routes = { home: "/", about: "/about" } satisfies Record<string, string>;
export const keys = Object.keys(routes) as (keyof typeof routes)[];
