/** Enum values: the schema name is the stored value in upper case. */
export const upper = <const T extends Record<string, string>>(values: T) =>
  Object.fromEntries(
    Object.entries(values).map(([value, description]) => [value.toUpperCase(), { value, description }]),
  ) as unknown as {
    [K in keyof T as Uppercase<K & string>]: { value: K; description: string }
  }

/** Enum values: the schema name equals the stored value. */
export const same = <const T extends Record<string, string>>(values: T) =>
  Object.fromEntries(Object.entries(values).map(([value, description]) => [value, { description }])) as {
    [K in keyof T]: { description: string }
  }
