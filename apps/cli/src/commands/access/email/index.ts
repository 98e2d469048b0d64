import { commandGroup } from '../../../command.ts'
import { emailChange } from './change.ts'
import { emailConfirm } from './confirm.ts'

export const email = () => commandGroup('email', [emailChange(), emailConfirm()])
