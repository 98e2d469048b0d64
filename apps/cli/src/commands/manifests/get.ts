import { Command } from '../../command.ts'
import { runCommandOf } from './kinds.ts'

const ofObject = (command: Command, verb: 'get' | 'delete') =>
  command
    .argument('<object>', 'KIND/NAME, such as ComputeNode/gpu01')
    .argument('[options...]', 'options of that command')
    .allowUnknownOption()
    .passThroughOptions()
    .action((object: string, options: string[]) => runCommandOf(verb, object, options))

export const get = () =>
  ofObject(new Command('get').description('show an object; the same as `muster node get`, `muster group get` and so on'), 'get')

export const remove = () =>
  ofObject(new Command('delete').description('delete an object; a node is decommissioned, and a job template archived'), 'delete')
