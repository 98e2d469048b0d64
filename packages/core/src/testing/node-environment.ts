/** What a Node program of ours needs of our environment when it is to have nothing else of it: its types are stripped already. */
export const nodeEnvironment: Record<string, string> = {
  PATH: process.env.PATH ?? '',
  ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
}
