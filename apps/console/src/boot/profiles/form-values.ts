import type { Content, ContentInput } from './documents.ts'
import { imageText } from './values.tsx'

/** Fields of the form. Lists have one line per element. */
export type FormValues = {
  parentId: string
  description: string
  arch: '' | NonNullable<Content['arch']>
  kernel: string
  initrds: string
  noInitrds: boolean
  rootImage: string
  kernelParams: string
  adminUser: string
  sshKeys: string
  userData: string
  vendorData: string
  networkConfig: string
  comment: string
}

export const EMPTY: FormValues = {
  ...{ parentId: '', description: '', arch: '', kernel: '', initrds: '', noInitrds: false, rootImage: '', kernelParams: '' },
  ...{ adminUser: '', sshKeys: '', userData: '', vendorData: '', networkConfig: '', comment: '' },
}

export const formOf = (content: Content, parentId: string | null): FormValues => ({
  parentId: parentId ?? '',
  description: content.description,
  arch: content.arch ?? '',
  kernel: content.kernel ? imageText(content.kernel) : '',
  initrds: (content.initrds ?? []).map(imageText).join('\n'),
  noInitrds: content.initrds?.length === 0,
  rootImage: content.rootImage ? imageText(content.rootImage) : '',
  kernelParams: content.kernelParams.join('\n'),
  adminUser: content.adminUser ?? '',
  sshKeys: content.sshKeys.join('\n'),
  userData: content.userData ?? '',
  vendorData: content.vendorData ?? '',
  networkConfig: content.networkConfig ?? '',
  comment: '',
})

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
function imageOf(line: string) {
  const [url, checksum] = line.trim().split(/\s+/, 2)
  return { url: url!, checksum: checksum ?? null }
}
const orNull = (text: string): string | null => text.trim() || null
const imageOrNull = (text: string) => (text.trim() ? imageOf(text) : null)

/** The input of the API; an empty field is inherited. */
export function inputOf(form: FormValues): ContentInput {
  const initrds = linesOf(form.initrds).map(imageOf)
  return {
    parentId: orNull(form.parentId),
    description: form.description,
    arch: form.arch || null,
    kernel: imageOrNull(form.kernel),
    initrds: form.noInitrds ? [] : initrds.length > 0 ? initrds : null,
    rootImage: imageOrNull(form.rootImage),
    kernelParams: linesOf(form.kernelParams),
    adminUser: orNull(form.adminUser),
    sshKeys: linesOf(form.sshKeys),
    userData: form.userData || null,
    vendorData: form.vendorData || null,
    networkConfig: form.networkConfig || null,
    comment: orNull(form.comment),
  }
}
