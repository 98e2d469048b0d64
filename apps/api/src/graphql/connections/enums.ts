import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const PreflightStageName = builder.enumType('PreflightStageName', {
  description: 'Stage of a connection test, in order of execution.',
  values: same({
    RESOLVE: 'Resolves the host name.',
    TCP: 'Opens a TCP connection to the port.',
    BANNER: 'Reads the SSH banner.',
    HOST_KEY: 'Compares the host key with the approved one.',
    AUTHENTICATION: 'Authenticates with the credential.',
    SHELL: 'Executes a command.',
    SUDO: 'Becomes root.',
    PYTHON: 'Finds a Python interpreter that Ansible supports.',
    ANSIBLE: 'Runs an Ansible module.',
  }),
})

export const PreflightState = builder.enumType('PreflightState', {
  description: 'Result of a stage.',
  values: same({ OK: 'Succeeded.', FAILED: 'Failed; see its hint.', SKIPPED: 'Not attempted, or not needed.' }),
})
