// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

/**
 * Finds the engines on the class path of this class and opens one of them.
 *
 * <p>Stateless and safe for any thread. Providers are looked up by the class loader that loaded
 * this class, so that a jar given with {@code spark-submit --jars} finds its own engines.
 */
public final class Verbs {
  private Verbs() {}

  /**
   * The outcome of trying engines.
   *
   * @param engine the first engine that could be loaded and has a device; null when there is none
   * @param reasons one sentence for each engine that was tried and is not used, in the order tried
   * @param mayPass whether one of these reasons may be over soon, see {@link
   *     VerbsException#isTransient}
   */
  public record Choice(VerbsEngine engine, List<String> reasons, boolean mayPass) {
    /**
     * An outcome whose reasons will not be over soon.
     *
     * @param engine see {@link #engine()}
     * @param reasons see {@link #reasons()}
     */
    public Choice(VerbsEngine engine, List<String> reasons) {
      this(engine, reasons, false);
    }
  }

  /**
   * {@return all providers, in the order of the automatic choice; providers that cannot be loaded
   * are left out}
   */
  public static List<VerbsProvider> providers() {
    List<VerbsProvider> found = new ArrayList<>();
    var iterator = ServiceLoader.load(VerbsProvider.class, Verbs.class.getClassLoader()).iterator();
    boolean more = true;
    while (more) {
      try {
        more = iterator.hasNext();
        if (more) {
          found.add(iterator.next());
        }
      } catch (ServiceConfigurationError e) {
        // An engine compiled for a newer Java than this one: the others are still good.
        more = true;
      }
    }
    found.sort(Comparator.comparingInt(VerbsProvider::order).thenComparing(VerbsProvider::name));
    return found;
  }

  /**
   * Tries engines in turn until one has a device.
   *
   * @param name an engine's name, or {@code auto} for all that take part in the automatic choice
   * @param settings values for all engines
   * @return never null; the caller closes its engine
   * @throws IllegalArgumentException when no engine has that name, or a setting's value is wrong
   */
  public static Choice choose(String name, EngineSettings settings) {
    List<VerbsProvider> all = providers();
    List<VerbsProvider> candidates =
        all.stream()
            .filter(p -> name.equals("auto") ? p.order() >= 0 : p.name().equals(name))
            .toList();
    if (candidates.isEmpty() && !name.equals("auto")) {
      throw new IllegalArgumentException(
          "no such engine: engine="
              + name
              + " allowed=auto,"
              + String.join(",", all.stream().map(VerbsProvider::name).toList()));
    }
    return choose(candidates, settings);
  }

  /** Tries these providers in turn. */
  static Choice choose(List<VerbsProvider> candidates, EngineSettings settings) {
    List<String> reasons = new ArrayList<>();
    boolean mayPass = false;
    for (VerbsProvider provider : candidates) {
      Choice one = load(provider, settings);
      reasons.addAll(one.reasons());
      mayPass |= one.mayPass();
      if (one.engine() != null) {
        return new Choice(one.engine(), List.copyOf(reasons), mayPass);
      }
    }
    if (candidates.isEmpty()) {
      reasons.add("no engine for RDMA hardware is in this jar");
    }
    return new Choice(null, List.copyOf(reasons), mayPass);
  }

  private static Choice load(VerbsProvider provider, EngineSettings settings) {
    VerbsEngine engine = null;
    String reason;
    boolean mayPass = false;
    try {
      engine = provider.load(settings);
      if (!engine.devices().isEmpty()) {
        return new Choice(engine, List.of());
      }
      reason = "no device";
    } catch (EngineUnavailableException e) {
      reason = e.getMessage();
      mayPass = e.isTransient();
    } catch (VerbsException e) {
      reason = e.toString();
      mayPass = e.isTransient();
    } catch (LinkageError e) {
      reason = e.toString();
    }
    if (engine != null) {
      engine.close();
    }
    return new Choice(null, List.of(provider.name() + ": " + reason), mayPass);
  }
}
