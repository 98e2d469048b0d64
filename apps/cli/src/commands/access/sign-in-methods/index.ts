import { Command } from '../../../command.ts'
import { signInList } from './list.ts'
import { signInStepUp } from './step-up.ts'
import { signInTest } from './test.ts'

export const signInMethods = () =>
  new Command('sign-in').addCommand(signInList()).addCommand(signInTest()).addCommand(signInStepUp())
