import { Command, Option } from 'commander'
import { printObject, write } from '../../output.ts'
import { type Place, readScope, withPlace } from './scope.ts'

export const varsGet = () =>
  withPlace(new Command('get').description('variables as they were typed, of all nodes, a group or a node'))
    .addOption(new Option('-o, --output <format>', 'instead: what they say').choices(['json', 'yaml']))
    .action(async ({ output, ...place }: Place & { output?: 'json' | 'yaml' }) => {
      const { text, vars, secretNames, label, version } = await readScope(place)
      if (output) return printObject(vars, output)
      if (secretNames.length > 0) process.stderr.write(`Secret: ${secretNames.join(', ')}\n`)
      if (version === 0) process.stderr.write(`No variables of ${label} were ever set.\n`)
      await write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
    })
