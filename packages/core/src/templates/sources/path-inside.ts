const MAX_PATH = 500
const MAX_NAME = 200
const MAX_DEPTH = 16

/** Why `path` is not a portable path of a file below some root; null when it is one. */
export function pathEscapeReason(path: string): string | null {
  if (path === '') return 'must not be empty'
  if (!path.isWellFormed() || /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(path))
    return 'must not contain control characters'
  if (path.includes('\\')) return 'must not contain a backslash'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'must be relative'
  const names = path.split('/')
  if (names.includes('..')) return 'must not contain ..'
  if (names.some((name) => name === '' || name === '.')) return 'must not contain empty parts or .'
  if (names.length > MAX_DEPTH) return `must not be deeper than ${MAX_DEPTH} folders`
  if (Buffer.byteLength(path) > MAX_PATH || names.some((name) => Buffer.byteLength(name) > MAX_NAME))
    return `must have at most ${MAX_PATH} bytes, and each part of it ${MAX_NAME}`
  return null
}
