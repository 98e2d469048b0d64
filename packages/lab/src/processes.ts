import { must } from './commands.ts'

/** Pids of everything that descends from the process, the nearest first. */
export async function descendants(pid: number): Promise<number[]> {
  const pairs = (await must(['ps', '-eo', 'pid=,ppid=']))
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const found = [pid]
  for (const parent of found) for (const [child, itsParent] of pairs) if (itsParent === parent && child) found.push(child)
  return found.slice(1)
}
