import { runChecked } from './commands.ts'

/** Pids of all descendants of a process, nearest first. */
export async function descendants(pid: number): Promise<number[]> {
  const pairs = (await runChecked(['ps', '-eo', 'pid=,ppid=']))
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const found = [pid]
  for (const parent of found) for (const [child, childsParent] of pairs) if (childsParent === parent && child) found.push(child)
  return found.slice(1)
}
