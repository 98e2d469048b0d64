import { Option } from 'commander'
import type { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { emptyToNull, omitUndefined } from '../../options.ts'
import { readStdin } from '../../prompt.ts'
import { readText } from '../../read-text.ts'
import { readProfile } from './read.ts'

export type FieldOptions = {
  description?: string
  parent?: string
  arch?: 'x86_64' | 'aarch64' | ''
  kernel?: string
  initrd?: string[]
  initrds?: boolean
  rootImage?: string
  param?: string[]
  adminUser?: string
  sshKey?: string[]
  userData?: string
  vendorData?: string
  networkConfig?: string
  comment?: string
}

const collect = (value: string, before: string[] = []): string[] => [...before, value]
const IMAGE = '<url[,checksum]>'
const FILE = 'file, or - for standard input'

/** Options for the fields of a boot profile. */
export const withFields = (command: Command): Command =>
  command
    .option('--description <text>', 'purpose')
    .option('--parent <profile>', 'profile to inherit from')
    .addOption(new Option('--arch <arch>', 'architecture of the machines').choices(['x86_64', 'aarch64', '']))
    .option(`--kernel ${IMAGE}`, 'kernel; the checksum is sha256:… or sha512:…')
    .option(`--initrd ${IMAGE}`, 'initial RAM disk; repeatable, in the order in which they are loaded', collect)
    .option('--no-initrds', 'load no initial RAM disk, also none of the parent')
    .option(`--root-image ${IMAGE}`, 'image of the root file system')
    .option('--param <param>', 'kernel parameter, such as console=ttyS0; repeatable, replaces the list', collect)
    .option('--admin-user <name>', 'user who gets the SSH keys and sudo')
    .option('--ssh-key <file>', 'file with public keys; repeatable, replaces the list', collect)
    .option('--user-data <file>', `user-data of cloud-init: ${FILE}`)
    .option('--vendor-data <file>', `vendor-data of cloud-init: ${FILE}`)
    .option('--network-config <file>', `network-config of cloud-init: ${FILE}`)
    .option('--comment <text>', 'why it changes, for the history')

function image(text: string): { url: string; checksum: string | null } {
  const [, url, checksum] = /^(.*?)(?:,(sha(?:256|512):[^,]*))?$/s.exec(text)!
  return { url: url!, checksum: checksum ?? null }
}
const optionalImage = (text: string | undefined) => (text ? image(text) : text === '' ? null : undefined)
const without = <T>(values: T[] | undefined) => values?.filter((value) => value !== '')

async function content(path: string | undefined) {
  if (!path) return emptyToNull(path)
  return path === '-' ? readStdin() : readText(path)
}

const publicKeys = (files: string[]): string[] =>
  files.flatMap((file) =>
    readText(file)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#')),
  )

function initrdsOf({ initrd, initrds }: FieldOptions) {
  if (initrds !== false) return initrd && (without(initrd)!.length > 0 ? without(initrd)!.map(image) : null)
  if (initrd) throw new CliError('Use --initrd or --no-initrds, not both.', EXIT.usage)
  return []
}

/** Input fields of the API; an empty option clears the field, so that it is inherited. */
export async function fields(options: FieldOptions) {
  const { description, parent, arch, kernel, rootImage, param, adminUser, sshKey, comment } = options
  return omitUndefined({
    description: emptyToNull(description),
    parentId: parent ? (await readProfile(parent)).id : emptyToNull(parent),
    arch: emptyToNull(arch),
    kernel: optionalImage(kernel),
    initrds: initrdsOf(options),
    rootImage: optionalImage(rootImage),
    kernelParams: without(param),
    adminUser: emptyToNull(adminUser),
    sshKeys: sshKey && publicKeys(without(sshKey)!),
    userData: await content(options.userData),
    vendorData: await content(options.vendorData),
    networkConfig: await content(options.networkConfig),
    comment,
  })
}
