// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the engine with the tables of docs/networks.md about versions of rdma-core. */
class RdmaCorePageTest {
  private static final Path PAGE = Path.of("..", "docs", "networks.md");
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");
  private static final String REFUSED = "RDMA stays off";

  /** Structs of the C library. */
  private static final Set<String> NOT_OF_RDMA_CORE =
      Set.of("pollfd", "sockaddr_in", "sockaddr_in6");

  @Test
  void shouldNameEveryFunctionAndItsLossWithoutIt() throws IOException {
    Map<String, String> shown = new TreeMap<>();
    for (String[] row : rows("| library | functions |")) {
      String outcome = row[row.length - 1];
      for (String name : names(row[1])) {
        String entry = row[0] + (outcome.equals(REFUSED) ? " required" : " optional");
        assertThat(shown.put(name, entry)).as("twice: %s", name).isNull();
      }
    }

    Map<String, String> used = new TreeMap<>();
    used.putAll(functions("libibverbs", VerbsLibrary::new));
    used.putAll(functions("librdmacm", CmLibrary::new));
    assertThat(shown).isEqualTo(used);
  }

  @Test
  void shouldQuoteTheReasonForAMissingFunction() throws IOException {
    Recorder library = new Recorder(VerbsLibrary.FILE, "ibv_query_qp");

    assertThatThrownBy(() -> new VerbsLibrary(library))
        .isInstanceOf(LinkageError.class)
        .satisfies(e -> assertThat(Files.readString(PAGE)).contains(e.getMessage() + "`"));
  }

  @Test
  void shouldNameEveryStruct() throws IOException {
    List<String> shown = new ArrayList<>();
    for (String[] row : rows("| structs |")) {
      shown.addAll(names(row[0]));
    }

    assertThat(shown).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(structs());
  }

  /** The cells of each row below a header. */
  private static List<String[]> rows(String header) throws IOException {
    List<String> lines = Files.readAllLines(PAGE);
    int first = 0;
    while (!lines.get(first).startsWith(header)) {
      first++;
    }
    List<String[]> rows = new ArrayList<>();
    for (String line : lines.subList(first + 2, lines.size())) {
      if (!line.startsWith("|")) {
        break;
      }
      rows.add(line.substring(2, line.length() - 2).split(" \\| ", -1));
    }
    assertThat(rows).isNotEmpty();
    return rows;
  }

  private static List<String> names(String cell) {
    return NAME.matcher(cell).results().map(found -> found.group(1)).toList();
  }

  /** Functions of a library, each with the answer whether the engine refuses to start without. */
  private static Map<String, String> functions(String library, Consumer<Symbols> load) {
    Recorder complete = new Recorder(library, "");
    load.accept(complete);
    Map<String, String> functions = new TreeMap<>();
    for (String name : complete.names) {
      functions.put(name, library + (isRequired(library, name, load) ? " required" : " optional"));
    }
    return functions;
  }

  private static boolean isRequired(String library, String name, Consumer<Symbols> load) {
    try {
      load.accept(new Recorder(library, name));
      return false;
    } catch (LinkageError e) {
      return true;
    }
  }

  /** Names in C of the structs in {@link Layouts}. */
  private static List<String> structs() {
    return Stream.of(Layouts.class.getClasses())
        .map(
            struct ->
                struct
                    .getSimpleName()
                    .replaceAll("(?<!^)(?=\\p{Lu})", "_")
                    .toLowerCase(Locale.ROOT))
        .filter(struct -> !NOT_OF_RDMA_CORE.contains(struct))
        .toList();
  }

  /** A library that has every function but one. */
  private static final class Recorder extends Symbols {
    private final List<String> names = new ArrayList<>();
    private final String missing;

    Recorder(String file, String missing) {
      super(file);
      this.missing = missing;
    }

    @Override
    long findOrZero(String name) {
      names.add(name);
      return name.equals(missing) ? 0 : 1;
    }
  }
}
