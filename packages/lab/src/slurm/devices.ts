import { capture } from '../commands.ts'

/** Creates the device files of accelerators: copies of /dev/null, which jobs are bound to. */
export async function createDevices(folder: string, names: string[]): Promise<void> {
  const script = 'cd "$1"; shift; for name; do mknod -m 666 "$name" c 1 3 2>/dev/null || : > "$name"; done'
  await capture(['/bin/sh', '-c', script, 'devices', folder, ...names])
}
