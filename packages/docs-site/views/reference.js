// What the reference adds to Swagger UI: its dark colours where the documentation is dark, and each operation's samples.

const dark = matchMedia('(prefers-color-scheme: dark)');

function followTheme() {
  const chosen = document.documentElement.dataset.theme;
  const isDark = chosen === 'dark' || (chosen !== 'light' && dark.matches);
  document.documentElement.classList.toggle('dark-mode', isDark);
}

followTheme();
dark.addEventListener('change', followTheme);
new MutationObserver(followTheme).observe(document.documentElement, { attributeFilter: ['data-theme'] });

/** For Swagger UI, which the page makes with it. */
// biome-ignore lint/correctness/noUnusedVariables: the page names it
function ReferencePlugin({ React, fn, specSelectors }) {
  const { createElement, Fragment, useState } = React;

  function Samples({ samples }) {
    const [chosen, choose] = useState(0);
    const buttons = samples.map(({ label }, index) =>
      createElement(
        'button',
        {
          key: label,
          type: 'button',
          className: 'btn',
          'aria-pressed': index === chosen,
          onClick: () => choose(index),
        },
        label,
      ),
    );
    return createElement(
      'section',
      { className: 'samples', 'aria-label': 'Samples' },
      createElement(
        'div',
        { className: 'opblock-section-header' },
        createElement('h4', null, 'Samples'),
        ...buttons,
      ),
      createElement(
        'pre',
        { className: 'microlight', tabIndex: 0 },
        createElement('code', null, samples[chosen].source),
      ),
    );
  }

  const withSamples = (Responses) => (props) => {
    const samples = specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
    return createElement(
      Fragment,
      null,
      samples && createElement(Samples, { samples: samples.toJS() }),
      createElement(Responses, props),
    );
  };
  // A link inside of the button that opens an operation could not be reached by keyboard; opening it sets the address.
  const plainPath =
    () =>
    ({ text }) =>
      createElement('span', null, text);
  const namedText = (TextArea) => (props) => createElement(TextArea, { 'aria-label': 'Body', ...props });
  const namedChoice = (Select) => (props) =>
    createElement(
      'span',
      { ref: (node) => node?.querySelector('select')?.setAttribute('aria-label', 'Value') },
      createElement(Select, props),
    );
  // The page's policy lets it reach this service only, which is the first of the servers.
  const noServers = () => () => null;
  // Swagger UI reads the whole document for each operation that is opened, which takes a second.
  const { resolveSubtree } = fn;
  const ofOnePath = (document, place, options) => {
    const [part, path] = place;
    const paths = part === 'paths' ? { [path]: document.paths[path] } : document.paths;
    return resolveSubtree({ ...document, paths }, place, options);
  };
  return {
    fn: { resolveSubtree: ofOnePath },
    wrapComponents: {
      DeepLink: plainPath,
      TextArea: namedText,
      Select: namedChoice,
      responses: withSamples,
      ServersContainer: noServers,
    },
  };
}
