import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { CliError, EXIT } from '../../errors.ts'
import { type Place, readScope, saveText, withPlace, withReason } from './scope.ts'

export const varsEdit = () =>
  withReason(
    withPlace(new Command('edit').description('edit variables of all nodes, a group or a node with $VISUAL or $EDITOR')),
  ).action(async ({ reason, ...place }: Place & { reason?: string }) => {
    const scope = await readScope(place)
    const directory = mkdtempSync(join(tmpdir(), 'muster-vars-'))
    const file = join(directory, 'vars.yml')
    writeFileSync(file, scope.text, { mode: 0o600 })
    const [editor, ...args] = (process.env.VISUAL || process.env.EDITOR || 'vi').split(' ')
    const { status, error } = spawnSync(editor!, [...args, file], { stdio: 'inherit' })
    const text = readFileSync(file, 'utf8')
    try {
      if (error || status !== 0) throw new CliError(`${editor} ended with ${error?.message ?? status}; nothing is changed.`)
      if (text === scope.text) process.stderr.write('Nothing is changed.\n')
      else await saveText(scope, text, reason)
      rmSync(directory, { recursive: true })
    } catch (failure) {
      const said = failure instanceof CliError ? failure : new CliError(String(failure), EXIT.failed)
      throw new CliError(`${said.message}\nWhat you typed is still in ${file}.`, said.exitCode)
    }
  })
