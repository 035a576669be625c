const m: RegExpExecArray | null = /x(y)/.exec("xy");
export const y: string | undefined = m?.[1];
