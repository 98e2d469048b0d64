/** Values whose name in the schema is their stored value in capitals. */
export const upper = <const T extends Record<string, string>>(values: T) =>
  Object.fromEntries(
    Object.entries(values).map(([value, description]) => [value.toUpperCase(), { value, description }]),
  ) as unknown as {
    [K in keyof T as Uppercase<K & string>]: { value: K; description: string }
  }

export const same = <const T extends Record<string, string>>(values: T) =>
  Object.fromEntries(Object.entries(values).map(([value, description]) => [value, { description }])) as {
    [K in keyof T]: { description: string }
  }
