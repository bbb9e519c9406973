// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.util.kvstore.KVIndex;
import org.apache.spark.util.kvstore.KVStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The figures of an application in the History Server's store, which may be on disk. Spark writes
 * and reads the public fields.
 */
public final class StoredFigures {
  /** Key of the one entry. */
  static final String KEY = "rdma-shuffle";

  private static final Logger LOG = LoggerFactory.getLogger(StoredFigures.class);
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** The key. */
  @KVIndex public String id = KEY;

  /** The figures as JSON. */
  public String json;

  /** For Spark. */
  public StoredFigures() {}

  static StoredFigures of(ApplicationFigures figures) {
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
      StoredFigures stored = store.read(StoredFigures.class, KEY);
      return ApplicationFigures.ofMap(MAPPER.readValue(stored.json, Map.class));
    } catch (NoSuchElementException e) {
      return null;
    } catch (Exception e) {
      LOG.warn("Cannot read the figures of the RDMA shuffle from the History Server's store", e);
      return null;
    }
  }
}
