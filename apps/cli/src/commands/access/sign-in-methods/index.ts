import { Command } from '../../../command.ts'
import { signInList } from './list.ts'
import { signInTest } from './test.ts'

export const signInMethods = () => new Command('sign-in').addCommand(signInList()).addCommand(signInTest())
