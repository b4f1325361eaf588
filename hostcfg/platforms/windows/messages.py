"""Words of Windows' own messages, in the languages that it is shipped in most.

netsh prints the system's message for an error number; these are parts of those messages, searched
in lower case.  Microsoft's translations of ERROR_ELEVATION_REQUIRED (740), ERROR_INVALID_PARAMETER
(87), ERROR_INVALID_NAME (123), ERROR_ACCESS_DENIED (5), ERROR_NOT_FOUND (1168), ERROR_NOT_SUPPORTED
(50); the German and English ones of 740, 87 and 123 and the words for success are from captures.
"""

from __future__ import annotations

import re
from functools import cache

OK_WORDS = frozenset(
    {"ok", "ок", "确定", "確定", "aceptar", "确认", "확인", "확인됨", "tamam", "rendben", "in ordine", "完了"}
)
"""What netsh says when a set was taken, without its full stop."""

_MESSAGES = """
[elevation_required]
requires elevation | run as administrator | erhöhte rechte | als administrator ausführen
nécessite une élévation | en tant qu.administrateur | requiere elevaci | ejecutar como administrador
privilegi elevati | esegui come amministratore | requer elevação | executar como administrador
требует повышения | от имени администратора | 需要提升 | 作为管理员运行 | 提高權限 | 提升的權限
以系統管理員身分執行 | 管理者特権 | 昇格が必要 | 管理者として実行 | 권한 상승 | 관리자 권한으로
podniesienia uprawnień | jako administrator | verhoogde bevoegdheden | als administrator uitvoeren
yükseltme gerekt | yönetici olarak | zvýšená oprávnění | spustit jako správce | utökade privilegier
förhöjd behörighet | kör som administratör | ต้องการการยกระดับ
[access_denied]
access is denied | access denied | zugriff verweigert | accès refusé | acceso denegado | accesso negato
acesso negado | отказано в доступе | 拒绝访问 | 存取被拒 | アクセスが拒否 | 액세스가 거부
odmowa dostępu | toegang geweigerd | erişim engellendi | přístup byl odepřen | åtkomst nekad
[interface_not_found]
filename, directory name, or volume label | dateinamen, verzeichnisnamen | nom de fichier, de répertoire
nombre de archivo, el nombre de directorio | nome del file, della directory
nome do arquivo, do nome do diretório | имени файла, имени папки | 文件名、目录名 | 檔案名稱、目錄名稱
ファイル名、ディレクトリ名 | 파일 이름, 디렉터리 | nazwa pliku, nazwa katalogu | bestandsnaam, mapnaam
dosya adı, dizin adı | názvu souboru, názvu adresáře | filnamn, katalognamn | no such interface
interface .{0,80} (?:was )?not found
[parameter_incorrect]
parameter is incorrect | falscher parameter | parameter ist falsch | paramètre incorrect
parámetro no es correcto | parametro non (?:è )?corretto | parâmetro incorreto | параметр задан неверно
参数错误 | 參數錯誤 | パラメーターが間違 | パラメータが間違 | 매개 변수가 틀 | parametr jest niepoprawny
parameter is onjuist | parametre yanlış | parametr není správný | felaktig parameter
[not_found]
element not found | cannot find the file specified | element nicht gefunden | élément introuvable
no se ha encontrado el elemento | elemento non trovato | elemento não encontrado | элемент не найден
找不到元素 | 找不到项目 | 要素が見つかりません | 요소를 찾을 수 | nie znaleziono elementu
prvek nebyl nalezen | element niet gevonden | elementet hittades inte | öğe bulunamadı
[not_supported]
request is not supported | anforderung wird nicht unterstützt | demande n.est pas prise en charge
solicitud no compatible | richiesta non supportata | solicitação não tem suporte
запрос не поддерживается | 不支持该请求 | 不支援這項要求 | 要求はサポートされていません
지원되지 않는 요청
[invalid_argument]
is not a valid argument for this command | is not an acceptable value for | kein gültiges argument
n.est pas un argument valide | no es un argumento válido | non è un argomento valido
não é um argumento válido | не является допустимым аргументом | 不是此命令的有效参数
不是這個命令的有效引數 | このコマンドの有効な引数ではありません | 명령에 올바른 인수가 아닙니다
유효한 인수가 아닙니다 | nie jest prawidłowym argumentem | geen geldig argument
geçerli bir bağımsız değişken değil | není platným argumentem | inte ett giltigt argument
[invalid_syntax]
syntax supplied for this command is not valid | one or more essential parameters
angegebene syntax .{0,40}ungültig | syntaxe fournie | sintaxis proporcionada | sintassi specificata
sintaxe fornecida | синтаксис .{0,60}(?:неверен|недопустим|неправил) | 语法不正确 | 語法不正確
構文が正しくありません | 구문이 .{0,20}않습니다 | składnia .{0,60}nieprawidłowa
[command_not_found]
following command was not found | is not recognized as | folgender befehl wurde nicht gefunden
befehl .{0,80}nicht gefunden | commande suivante est introuvable | не найдена следующая команда
找不到下列命令 | 找不到以下命令 | 次のコマンドが見つかりません | befehl ist entweder falsch geschrieben
"""
"""One kind a heading, then parts of its messages as regular expressions, separated by `` | ``."""


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    blocks = re.findall(r"\[(\w+)\]\n([^\[]+)", _MESSAGES)
    return tuple((kind, re.compile(re.sub(r"\s+\|\s+|\n(?=.)", "|", body.strip()))) for kind, body in blocks)


DENIED_KINDS = frozenset({"elevation_required", "access_denied"})


def error_kind(text: str) -> str | None:
    """The kind of the first known message in ``text``; None if it holds none."""
    lowered = " ".join(text.lower().split())
    return next((kind for kind, pattern in _patterns() if pattern.search(lowered)), None)


def is_ok(line: str) -> bool:
    """Whether ``line`` is nothing but netsh's word for success.

    >>> is_ok("确定。  ")
    True
    """
    return line.strip().strip(".。!").strip().lower() in OK_WORDS
