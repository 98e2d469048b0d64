/** Linux truncates a longer command line on x86-64 and arm64. */
export const MAX_COMMAND_LINE = 2048

/** The name of a kernel parameter; Linux treats - and _ in it alike. */
export const kernelParamKey = (param: string): string => param.split('=', 1)[0]!.replaceAll('-', '_')

/** Returns the parameters of a parent that remain below those of a child: a parameter of the child replaces all of its name. */
export function remainingParams<T>(parent: readonly T[], child: readonly string[], textOf: (param: T) => string): T[] {
  const replaced = new Set(child.map(kernelParamKey))
  return parent.filter((param) => !replaced.has(kernelParamKey(textOf(param))))
}
