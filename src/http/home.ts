/** GET /: says what this service is; if the sandbox runs, also how to try a first payment. */
import { otherLanguage } from '../common/languages.ts';
import { renderText } from '../common/templates.ts';
import type { Config } from '../config/config.ts';
import { texts } from './pay/texts.ts';
import { type Context, languageOf } from './server/context.ts';

export function createHome({ baseUrl, gateway, sandbox }: Config) {
  return (ctx: Context): Promise<void> => {
    const lang = languageOf(ctx);
    const { home, ...pages } = texts[lang];
    const links = [
      ...(['simulate', 'debug'] as const).map((name) => ({
        url: `${baseUrl}/generic/${name}?lang=${lang}`,
        text: pages[name].title,
      })),
      { url: `${gateway.url}/merchant`, text: home.merchant },
      { url: `${gateway.url}/mailbox`, text: home.mailbox },
      { url: `${baseUrl}/docs`, text: home.documentation },
    ];
    const tryOut = sandbox.enabled
      ? { command: firstRequest(baseUrl, gateway.url), gatewayUrl: gateway.url, links }
      : undefined;
    return ctx.render('home.njk', {
      lang,
      otherLanguageUrl: `${baseUrl}/?lang=${otherLanguage(lang)}`,
      tryOut,
    });
  };
}

/** A call by the development merchant of config/merchants.yaml; the sandbox's merchant page receives the callback. */
export const firstRequest = (baseUrl: string, sandboxUrl: string): string =>
  renderText('first-request.txt', { baseUrl, sandboxUrl });
