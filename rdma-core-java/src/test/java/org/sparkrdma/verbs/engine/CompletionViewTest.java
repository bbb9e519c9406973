// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/** Fields of a completion and the time for which they can be read. */
class CompletionViewTest {
  private static final String OVER = "a completion is only valid while its handler runs";

  private final CompletionView view = new CompletionView();
  private final List<String> shown = new ArrayList<>();

  private void show(WorkCompletion completion) {
    String always =
        completion.requestId()
            + (" " + completion.status())
            + (" queuePair=" + completion.queuePairNumber())
            + (" vendorError=" + completion.vendorError());
    shown.add(
        completion.status() == WorkStatus.SUCCESS
            ? always
                + (" " + completion.opcode())
                + (" bytes=" + completion.byteLength())
                + (completion.hasImmediate() ? " immediate=" + completion.immediate() : "")
            : always);
  }

  private Stream<ThrowingCallable> fieldsOfAll() {
    return Stream.of(view::requestId, view::status, view::queuePairNumber, view::vendorError);
  }

  private Stream<ThrowingCallable> fieldsOfSuccess() {
    return Stream.of(view::opcode, view::byteLength, view::hasImmediate, view::immediate);
  }

  private void refusesAll() {
    Stream.concat(fieldsOfAll(), fieldsOfSuccess())
        .forEach(
            field ->
                assertThatThrownBy(field)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(OVER));
  }

  @Test
  void shouldShowAllFieldsOfASuccess() {
    view.setSuccess(-5, 17, Opcode.READ, 1L << 33);
    view.hand(this::show);
    assertThat(shown)
        .containsExactly("-5 SUCCESS queuePair=17 vendorError=0 READ bytes=8589934592");
  }

  @Test
  void shouldShowImmediateDataOfItsOwnCompletionOnly() {
    view.setSuccess(1, 17, Opcode.RECEIVE, 8);
    view.setImmediate(-3);
    view.hand(this::show);
    view.setSuccess(2, 17, Opcode.RECEIVE, 8);
    view.hand(this::show);
    assertThat(shown)
        .containsExactly(
            "1 SUCCESS queuePair=17 vendorError=0 RECEIVE bytes=8 immediate=-3",
            "2 SUCCESS queuePair=17 vendorError=0 RECEIVE bytes=8");
    view.setSuccess(3, 17, Opcode.RECEIVE, 8);
    assertThat(view.immediate()).isZero();
  }

  @Test
  void shouldShowNothingOfTheCompletionBefore() {
    view.setSuccess(1, 17, Opcode.READ, 8);
    view.hand(this::show);
    view.setFailure(2, 18, WorkStatus.REMOTE_ACCESS_ERROR, 9);
    view.hand(this::show);
    view.setSuccess(3, 19, Opcode.SEND, 4);
    view.hand(this::show);
    assertThat(shown)
        .containsExactly(
            "1 SUCCESS queuePair=17 vendorError=0 READ bytes=8",
            "2 REMOTE_ACCESS_ERROR queuePair=18 vendorError=9",
            "3 SUCCESS queuePair=19 vendorError=0 SEND bytes=4");
  }

  @Test
  void shouldRefuseTheFieldsOfASuccessAfterAFailure() {
    view.setSuccess(1, 17, Opcode.READ, 8);
    view.setFailure(2, 17, WorkStatus.FLUSH_ERROR, 0);
    fieldsOfSuccess()
        .forEach(
            field ->
                assertThatThrownBy(field)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("a failed completion has no such field: status=FLUSH_ERROR"));
  }

  @Test
  void shouldRefuseAllFieldsBeforeTheFirstCompletion() {
    refusesAll();
  }

  @Test
  void shouldRefuseAllFieldsWhenItsHandlerHasReturned() {
    view.setSuccess(1, 17, Opcode.READ, 8);
    view.hand(this::show);
    refusesAll();
  }

  @Test
  void shouldRefuseAllFieldsWhenItsHandlerHasThrown() {
    view.setSuccess(1, 17, Opcode.READ, 8);
    assertThatThrownBy(
            () ->
                view.hand(
                    completion -> {
                      throw new IllegalArgumentException("thrown by the test");
                    }))
        .hasMessage("thrown by the test");
    refusesAll();
  }
}
