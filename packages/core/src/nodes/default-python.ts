import type { Discovery } from '@muster/discovery'

/** Oldest Python that Ansible's modules run on. */
export const MIN_PYTHON = [3, 8] as const
const DEFAULT_PATH = '/usr/bin/python3'

/** Whether Ansible's modules run on this Python, such as `3.11.2`. */
export function isSupportedPython(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > MIN_PYTHON[0] || (major === MIN_PYTHON[0] && minor >= MIN_PYTHON[1])
}

/**
 * The interpreter for runs on a node when no variable sets one: `/usr/bin/python3` where the last discovery found it in a supported
 * version. It saves Ansible's own search, a round trip per host. Null: Ansible searches.
 */
export function defaultPython(discovered: Discovery['host']['python'] | null): string | null {
  return discovered?.path === DEFAULT_PATH && isSupportedPython(discovered.version ?? '') ? DEFAULT_PATH : null
}
