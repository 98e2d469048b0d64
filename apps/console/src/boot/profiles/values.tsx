import { formatList } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import type { AssignmentRow, Origin } from './documents.ts'

export const FIELDS = [
  ...(['parent', 'description', 'arch', 'kernel', 'initrds', 'rootImage', 'kernelParams'] as const),
  ...(['adminUser', 'sshKeys', 'userData', 'vendorData', 'networkConfig'] as const),
]
type Field = (typeof FIELDS)[number]

export const fieldLabel = (field: string): string => t(`bootField.${field as Field}`)

type Image = { url: string; checksum: string | null }
const isImage = (value: unknown): value is Image => typeof value === 'object' && value !== null && 'url' in value
/** One line per file: the URL, and after a space the checksum. */
export const imageText = ({ url, checksum }: Image): string => (checksum ? `${url} ${checksum}` : url)

/** A value of a field as text. */
export function valueText(value: unknown): string {
  if (value === null || value === '') return t('bootProfile.unset')
  if (Array.isArray(value)) return value.length === 0 ? t('bootProfile.emptyList') : value.map(valueText).join('\n')
  return isImage(value) ? imageText(value) : String(value)
}

/** A value, which scrolls when it is long. */
export function Value({ value, muted }: { value: unknown; muted?: boolean }) {
  const text = valueText(value)
  return (
    <pre
      className={`max-h-40 min-w-0 overflow-auto font-mono text-xs leading-5 break-all whitespace-pre-wrap ${muted ? 'text-faint line-through' : ''}`}
      tabIndex={text.length > 400 ? 0 : undefined}
    >
      {text}
    </pre>
  )
}

/** The values of a field and the profiles that they come from. */
export function Origins({ origins, own }: { origins: readonly Origin[]; own?: string }) {
  const fields = FIELDS.filter((field) => origins.some((each) => each.field === field))
  return (
    <dl className="grid gap-x-4 gap-y-1 text-sm sm:gap-y-3 sm:grid-cols-[minmax(88px,150px)_1fr]">
      {fields.map((field) => (
        <div key={field} className="contents">
          <dt className="text-muted">{fieldLabel(field)}</dt>
          <dd className="flex min-w-0 flex-col gap-1">
            {origins
              .filter((each) => each.field === field)
              .map(({ value, isOverridden, source }, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the list is replaced as a whole
                <div key={i} className="flex min-w-0 flex-wrap items-baseline gap-x-3">
                  <Value value={value} muted={isOverridden} />
                  {source.name !== own && (
                    <span className="text-xs text-muted">
                      {t(isOverridden ? 'bootProfile.replacedFrom' : 'bootProfile.from', { name: source.name })}
                    </span>
                  )}
                </div>
              ))}
          </dd>
        </div>
      ))}
    </dl>
  )
}

type Target = { target: AssignmentRow['target']; name: string | null }
export const targetText = ({ target, name }: Target): string =>
  name === null ? t(`bootTarget.${target}`) : t('bootProfile.targetNamed', { target: t(`bootTarget.${target}`), name })

/** What the profiles of a chain set, by field, as the placeholder of an empty field. */
export const inheritedText = (origins: readonly Origin[], field: Field): { text: string; from: string } | null => {
  const found = origins.filter((each) => each.field === field && !each.isOverridden)
  if (found.length === 0) return null
  return {
    text: found.map(({ value }) => valueText(value)).join('\n'),
    from: formatList([...new Set(found.map(({ source }) => source.name))]),
  }
}
