// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** All objects of this project that are reachable from one. */
public final class ObjectWalk {
  private static final String OURS = "org.sparkrdma.";

  /** Number of walks over a collection that other threads change. */
  private static final int MAX_ATTEMPTS = 1_000;

  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final ArrayDeque<Object> next = new ArrayDeque<>();

  /** Walks from that object. It misses objects that another thread moves meanwhile. */
  public Set<Object> from(Object root) throws IllegalAccessException {
    add(root);
    while (!next.isEmpty()) {
      visit(next.poll());
    }
    seen.removeIf(object -> !isOurs(object));
    return seen;
  }

  private void add(Object object) {
    if (object != null && isWorthIt(object) && seen.add(object)) {
      next.add(object);
    }
  }

  private static boolean isOurs(Object object) {
    return object.getClass().getName().startsWith(OURS);
  }

  private static boolean isWorthIt(Object object) {
    return isOurs(object)
        || object instanceof Object[]
        || object instanceof Map
        || object instanceof Collection
        || object instanceof Optional
        || object instanceof AtomicReference;
  }

  private void visit(Object object) throws IllegalAccessException {
    if (object instanceof Object[] array) {
      Arrays.asList(array).forEach(this::add);
    } else if (isOurs(object)) {
      visitFields(object);
    } else if (object instanceof Map<?, ?> map) {
      addAll(map.keySet());
      addAll(map.values());
    } else if (object instanceof Collection<?> elements) {
      addAll(elements);
    } else if (object instanceof Optional<?> optional) {
      optional.ifPresent(this::add);
    } else if (object instanceof AtomicReference<?> reference) {
      add(reference.get());
    }
  }

  /** Another thread, such as the agent, may change the collection meanwhile. */
  private void addAll(Collection<?> elements) {
    for (int attempt = 1; ; attempt++) {
      try {
        elements.forEach(this::add);
        return;
      } catch (ConcurrentModificationException e) {
        if (attempt == MAX_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private void visitFields(Object object) throws IllegalAccessException {
    for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
      if (!type.getName().startsWith(OURS)) {
        return;
      }
      for (Field field : type.getDeclaredFields()) {
        if (!field.getType().isPrimitive() && !Modifier.isStatic(field.getModifiers())) {
          field.setAccessible(true);
          add(field.get(object));
        }
      }
    }
  }
}
