import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { readScope, type ScopeOptions, saveText, withReason, withScope } from './scope.ts'

export const varsEdit = () =>
  withReason(withScope(new Command('edit').description('edit variables in $VISUAL or $EDITOR'))).action(
    async ({ reason, ...scopeOptions }: ScopeOptions & { reason?: string }) => {
      const scope = await readScope(scopeOptions)
      const directory = mkdtempSync(join(tmpdir(), 'muster-vars-'))
      const file = join(directory, 'vars.yml')
      writeFileSync(file, scope.text, { mode: 0o600 })
      const [editor, ...args] = (process.env.VISUAL || process.env.EDITOR || 'vi').split(' ')
      const { status, error } = spawnSync(editor!, [...args, file], { stdio: 'inherit' })
      const text = readFileSync(file, 'utf8')
      try {
        if (error || status !== 0) throw new CliError(`${editor} exited with ${error?.message ?? status}. Nothing was saved.`)
        if (text === scope.text) process.stderr.write('No changes.\n')
        else await saveText(scope, text, reason)
        rmSync(directory, { recursive: true })
      } catch (failure) {
        const cause = failure instanceof CliError ? failure : new CliError(String(failure), EXIT.failed)
        throw new CliError(`${cause.message}\nYour text is saved in ${file}.`, cause.exitCode)
      }
    },
  )
