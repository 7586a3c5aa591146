// How an answer looks: elements from JSON, by textContent only, so that no name of a class or file can become markup.

/** An element with properties, classes and children. */
export function make(tag, { classes, ...properties } = {}, ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  Object.assign(element, properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** 0.934 as "93.4 %"; what is not quite nothing or all is not shown as such. */
export function percent(share) {
  if (share > 0 && share < 0.0005) return '< 0.1 %';
  if (share < 1 && share >= 0.9995) return '> 99.9 %';
  return `${(100 * share).toFixed(1)} %`;
}

/** The top classes as bars; the bar repeats the number, so only the number is read out. */
export function bars(top) {
  const list = make('ol', { classes: 'bars' });
  for (const { class: name, probability } of top) {
    const fill = make('span', { classes: 'fill' });
    fill.style.inlineSize = `${Math.max(0.5, 100 * probability)}%`;
    const track = make('span', { classes: 'track' }, fill);
    track.setAttribute('aria-hidden', 'true');
    list.append(make('li', {}, make('span', { classes: 'name', textContent: name }), track,
      make('span', { classes: 'number', textContent: percent(probability) })));
  }
  return list;
}

/** The nearest training images; null where the answer has none. */
export function neighbours(nearest, answer) {
  if (!nearest?.length) return null;
  const list = make('ul', { classes: 'nearest' });
  for (const { name, class: kind, distance, thumbnail } of nearest) {
    const image = thumbnail?.startsWith('data:image/')
      ? make('img', { src: thumbnail, alt: `training image ${name}`, title: name })
      : make('span', { classes: 'blank', textContent: name });
    const label = make('span', { classes: kind === answer ? 'kind same' : 'kind', textContent: kind });
    const far = make('span', { classes: 'far', textContent: `distance ${distance.toFixed(2)}` });
    list.append(make('li', {}, image, label, far));
  }
  return make('section', { classes: 'similar' }, make('h4', { textContent: 'Nearest training images' }), list);
}

/** The regions of an anomaly, in pixels of the image, as a list of at most one element. */
export function regionList(regions) {
  if (!regions.length) return [];
  const list = make('ol', { classes: 'regions' });
  for (const { x, y, width, height, score } of regions.slice(0, 5)) {
    list.append(make('li', { textContent: `${width} × ${height} pixels at ${x}, ${y}: score ${score.toFixed(2)}` }));
  }
  if (regions.length > 5) list.append(make('li', { textContent: `and ${regions.length - 5} more` }));
  return [make('section', {}, make('h4', { textContent: regions.length === 1 ? 'Region' : 'Regions' }), list)];
}

/** The image, with the region that mattered over it and a switch for it; boxes are in its pixels. */
export function shownImage(shown, explanation, regions = []) {
  const frame = make('div', { classes: 'frame' });
  const figure = make('figure', {}, frame);
  const image = make('img', { classes: 'shown', src: shown.url, alt: `your image ${shown.name}` });
  image.addEventListener('load', () => {
    frame.style.setProperty('--ratio', String(image.naturalWidth / image.naturalHeight));
    for (const { x, y, width, height } of regions) {
      const box = make('span', { classes: 'box' });
      box.style.insetInlineStart = `${100 * x / image.naturalWidth}%`;
      box.style.insetBlockStart = `${100 * y / image.naturalHeight}%`;
      box.style.inlineSize = `${100 * width / image.naturalWidth}%`;
      box.style.blockSize = `${100 * height / image.naturalHeight}%`;
      frame.append(box);
    }
  });
  image.addEventListener('error', () => {
    figure.replaceChildren(make('p', { classes: 'blank', textContent: 'This browser cannot show this file.' }));
  });
  frame.append(image);
  if (explanation?.heat?.startsWith('data:image/')) {
    const heat = make('img', { classes: 'heat', src: explanation.heat, alt: '' });
    const box = make('input', { type: 'checkbox', checked: true });
    box.addEventListener('change', () => frame.classList.toggle('plain', !box.checked));
    frame.append(heat);
    figure.append(make('figcaption', {}, make('label', { classes: 'switch' }, box,
      make('span', { textContent: explanation.class ? `Show the evidence for “${explanation.class}”` : 'Show the anomaly map' }))));
  }
  return figure;
}

/** What people call the metrics of a model's file, and whether one is a share; as in the report. */
const METRICS = {
  accuracy: ['Accuracy', true],
  top5: ['Top-5 accuracy', true],
  balancedAccuracy: ['Balanced accuracy', true],
  macroF1: ['Macro F1', true],
  logLoss: ['Log loss', false],
  brier: ['Brier score', false],
  calibrationError: ['Calibration error', true],
  leftOutClassAuroc: ['AUROC of left-out classes', true],
  auroc_synthetic: ['AUROC on synthetic defects', true],
  auroc_defects: ['AUROC on given defects', true],
};

/** The facts of the model as a list of terms. */
export function facts(model) {
  const list = make('dl');
  const add = (term, text) => {
    if (text !== undefined && text !== null && text !== '') {
      list.append(make('dt', { textContent: term }), make('dd', {}, text));
    }
  };
  add('Name', model.name);
  add('Backbone', [model.backbone, model.layer].filter(Boolean).join(', layer '));
  if (model.kind === 'detector') {
    add('Detector', model.detector);
    add('Good images', model.goodImages.toLocaleString('en'));
    add('False alarms', `at most ${percent(model.falseAlarms)}`);
    add('Threshold', model.threshold?.toPrecision(4) ?? 'none: too few good images');
    add('Image size', `${model.width} × ${model.height}${model.tile ? `, tiles of ${model.tile} pixels` : ''}`);
  }
  if (model.unknownRate !== undefined) {
    add('Unknown', `p-value at most ${percent(model.unknownRate)}, from ${model.knownImages.toLocaleString('en')} images`);
  }
  if (model.drift) add('Drift', driftText(model.drift));
  add('Pooling', model.pooling && make('code', { textContent: model.pooling }));
  for (const [name, value] of Object.entries(model.metrics ?? {})) {
    const [text, share] = METRICS[name] ?? [name, false];
    add(text, share ? percent(value) : value.toPrecision(4));
  }
  add('Descriptor size', model.descriptorSize?.toLocaleString('en'));
  add('Parameters', model.parameters?.toLocaleString('en'));
  add('Engine', model.engine);
  if (model.classes) add(`${model.classes.length} classes`, classes(model.classes));
  return list;
}

function classes(names) {
  const list = make('ul', { classes: 'classes' });
  for (const name of names) list.append(make('li', { textContent: name }));
  return list;
}

/** One line about the model for the top of the page. */
export function summary(model) {
  if (model.kind === 'detector') return `${model.name} · detector of anomalies · ${model.goodImages} good images`;
  const parts = [model.name, `${model.classes.length} classes`];
  const accuracy = model.metrics?.accuracy;
  if (typeof accuracy === 'number') parts.push(`test accuracy ${percent(accuracy)}`);
  return parts.filter(Boolean).join(' · ');
}

/** Whether recent images differ from the training images. */
export function driftText({ images, detected, distance, limit, level }) {
  if (distance === null) return `not known yet: ${images} images of at least 100`;
  const numbers = `distance ${distance.toFixed(2)}, limit ${limit.toFixed(2)}, false alarm level ${level}`;
  return detected
    ? `The last ${images} images differ from the training images (${numbers}). Check camera, light and parts, or train again.`
    : `none in the last ${images} images (${numbers})`;
}

/** The words of the page for a kind of model. */
export function words(model) {
  return model.kind === 'detector'
    ? { title: 'Inspect images', results: 'Inspections',
      promise: `An image is anomalous if at most ${percent(model.falseAlarms)} of good images look as odd.` }
    : { title: 'Classify images', results: 'Predictions',
      promise: model.unknownRate
        ? `An image is unknown if at most ${percent(model.unknownRate)} of images of the model’s classes look as unlike them.`
        : 'The model always predicts one of its own classes, even for images of something else.' };
}
