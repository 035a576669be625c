expect(make()).toEqual(expect.any(Function));
Reflect.construct(Date, [0]);
const last = (1, Math.max)(2, 3);
