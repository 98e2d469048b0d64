import { Option } from 'commander'

/** A role; names of custom roles are known only to the API. */
export const roleOption = () =>
  new Option('--role <role>', 'name of a built-in or custom role (see `muster role list`), at most your own role')
