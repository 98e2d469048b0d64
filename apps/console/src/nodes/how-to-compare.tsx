import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { LabOfferQuery } from '@/onboarding/documents.ts'
import { CopyButton } from '@/ui/copy-button.tsx'

function Command({ text }: { text: string }) {
  return (
    <span className="flex items-center gap-1 rounded-md bg-sunken pl-2">
      <code className="min-w-0 flex-1 py-1.5 font-mono text-xs break-all text-text">{text}</code>
      <CopyButton text={text} />
    </span>
  )
}

/** Where the fingerprints stand that an offered key is compared with: on the machine itself, of lab nodes also here. */
export function HowToCompare() {
  const [{ data }] = useQuery({ query: LabOfferQuery })
  return (
    <div className="flex flex-col gap-1 text-sm text-muted">
      <p>{t('hostKey.compareOnNode')}</p>
      <Command text={t('hostKey.compareCommand')} />
      {data?.labOffer && (
        <>
          <p>{t('hostKey.compareInLab')}</p>
          <Command text={t('hostKey.labCommand')} />
        </>
      )}
    </div>
  )
}
