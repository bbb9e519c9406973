// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.history;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.util.kvstore.KVStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.ui.StoredFigures;
import org.sparkrdma.shuffle.ui.figures.ApplicationFigures;

/** Encodes the figures of an application for the History Server's store. Stateless. */
final class FigureStore {
  private static final Logger LOG = LoggerFactory.getLogger(FigureStore.class);
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private FigureStore() {}

  /** The entry to write. */
  static StoredFigures entry(ApplicationFigures figures) {
    StoredFigures stored = new StoredFigures();
    try {
      stored.json = MAPPER.writeValueAsString(figures.toMap());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot encode maps of lists, numbers and strings", e);
    }
    return stored;
  }

  /** The figures in a store; null when it has none, or unreadable ones. */
  static ApplicationFigures read(KVStore store) {
    try {
      StoredFigures stored = store.read(StoredFigures.class, StoredFigures.KEY);
      return ApplicationFigures.ofMap(MAPPER.readValue(stored.json, Map.class));
    } catch (NoSuchElementException e) {
      return null;
    } catch (Exception e) {
      LOG.warn("Cannot read the figures of the RDMA shuffle from the History Server's store", e);
      return null;
    }
  }
}
