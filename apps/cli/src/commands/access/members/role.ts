import { Option } from 'commander'
import { oneOf } from '../../../options.ts'

export type Role = 'VIEWER' | 'OPERATOR' | 'ADMIN' | 'OWNER'
export const role = oneOf('VIEWER', 'OPERATOR', 'ADMIN', 'OWNER')

export const roleOption = () =>
  new Option('--role <role>', 'VIEWER, OPERATOR, ADMIN or OWNER, at most your own role').argParser(role)
