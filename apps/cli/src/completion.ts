import tab from '@bomb.sh/tab/commander'
import type { Command } from './command.ts'

/** Adds `muster completion SHELL`, and the hidden command that its scripts call at each Tab. Needs the whole command tree. */
export function addCompletion(muster: Command): void {
  tab(muster, { completionCommandName: 'completion' })
}
