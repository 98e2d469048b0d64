import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const PreflightStageName = builder.enumType('PreflightStageName', {
  description: 'Stages of a connection test, in their order.',
  values: same({
    RESOLVE: 'The name of the host is resolved to an address.',
    TCP: 'The port accepts a connection.',
    BANNER: 'Something there speaks SSH.',
    HOST_KEY: 'The host key is the approved one.',
    AUTHENTICATION: 'The credential is accepted.',
    SHELL: 'A command can be executed.',
    SUDO: 'The user can become root.',
    PYTHON: 'A Python interpreter that Ansible can use is there.',
    ANSIBLE: 'Ansible can be used on the node.',
  }),
})

export const PreflightState = builder.enumType('PreflightState', {
  description: 'How a stage ended.',
  values: same({ OK: 'Good.', FAILED: 'Not good; its hint says what to do.', SKIPPED: 'Not tried, or not needed.' }),
})
