import { Option } from 'commander'
import { Command } from '../../command.ts'
import { printObject, write } from '../../output.ts'
import { readScope, type Scope, type ScopeOptions, withScope } from './scope.ts'

const valuesOf = (vars: Scope['vars']) =>
  Object.fromEntries(vars.filter(({ value }) => !value.isSecret).map(({ name, value }) => [name, value.json]))

export const varsGet = () =>
  withScope(new Command('get').description('print the variables of all nodes, a group or a node, as they were entered'))
    .addOption(new Option('-o, --output <format>', 'print the parsed values instead').choices(['json', 'yaml']))
    .action(async ({ output, ...scopeOptions }: ScopeOptions & { output?: 'json' | 'yaml' }) => {
      const { text, vars, label, version } = await readScope(scopeOptions)
      const secretNames = vars.filter(({ value }) => value.isSecret).map(({ name }) => name)
      if (output) return printObject(valuesOf(vars), { output, headers: true })
      if (secretNames.length > 0) process.stderr.write(`Secret: ${secretNames.join(', ')}\n`)
      if (version === 0) process.stderr.write(`No variables set for ${label}.\n`)
      await write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
    })
